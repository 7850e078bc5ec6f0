// Python types that the core makes or recognises, and functions that it calls. The package hands them over once, when it is
// imported: _core.adopt.
#pragma once

#include <string>

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace zveno::bindings {

// by their names in Python
enum class Adopted {
  ModelError,
  SingularityError,
  UnreachableError,
  GraphSizeError,
  Body,
  ConstraintDerivatives,
  Derivatives,
  ForwardDerivatives,
  HexapodDynamics,
  ClosedFormSolutions,
  InverseKinematics,
  LinkageDynamics,
  SecondDerivatives,
  // functions
  matrix_of,
  pose_of,
  sensitivities,
  count
};

PyTypeObject* adopted(Adopted which);
PyTypeObject* adopted(const char* name);
py::function adopted_function(Adopted which);

// an exception of the package
py::object make_error(const char* type, const std::string& text);

}  // namespace zveno::bindings
